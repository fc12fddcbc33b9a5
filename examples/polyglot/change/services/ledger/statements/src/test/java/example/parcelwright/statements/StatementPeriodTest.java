package example.parcelwright.statements;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import example.parcelwright.ledger.Journal;
import java.time.LocalDate;
import org.junit.jupiter.api.Test;

class StatementPeriodTest {
    private final StatementPeriod march =
        new StatementPeriod(LocalDate.of(2026, 3, 1), LocalDate.of(2026, 4, 1));

    @Test
    void periodsDoNotOverlap() {
        assertTrue(march.covers(LocalDate.of(2026, 3, 1)));
        assertTrue(march.covers(LocalDate.of(2026, 3, 31)));
        assertFalse(march.covers(LocalDate.of(2026, 4, 1)));
    }

    @Test
    void objectionsAreHeardForAWhile() {
        assertTrue(march.mayObject(LocalDate.of(2026, 4, 20)));
        assertFalse(march.mayObject(LocalDate.of(2026, 7, 1)));
    }

    @Test
    void theTitleNamesTheBalance() {
        Journal journal = new Journal();
        journal.post("payment/17", 4_000);
        assertEquals("2026-03-01 to 2026-04-01: 4000", march.title(journal));
    }
}
