package example.parcelwright.ledger;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import org.junit.jupiter.api.Test;

class RebateServiceTest {
    private final Journal journal = new Journal();
    private final RebateService rebates = new RebateService(journal, new ArrayList<String>()::add);

    @Test
    void largeShippersAreCredited() {
        assertEquals(8_000, rebates.credit("rebate/2026-03", 200_000, 4_200));
        assertEquals(8_000, journal.balance());
    }

    @Test
    void smallShippersAreNot() {
        assertEquals(0, rebates.credit("rebate/2026-03", 9_000, 31));
        assertEquals(0, journal.balance());
    }
}
