package example.parcelwright.ledger;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class PostingReferenceTest {
    @Test
    void referencesCarryACheckDigit() {
        assertEquals("2026-000317-7", PostingReference.format(2026, 317));
        assertEquals("2026-000004-5", PostingReference.format(2026, 4));
    }
}
