package example.parcelwright.ledger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class JournalTest {
    @Test
    void postingsAddUp() {
        Journal journal = new Journal();
        journal.post("invoice/17", -4_500);
        journal.post("payment/17", 4_000);
        assertEquals(-500, journal.balance());
        assertEquals(4_000, journal.amount("payment/17"));
        assertTrue(journal.contains("invoice/17"));
        assertFalse(journal.contains("invoice/18"));
    }
}
