package example.parcelwright.ledger;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class PostingReferenceTest {
    @Test
    void referencesSortByYear() {
        assertEquals("2026-000317", PostingReference.format(2026, 317));
    }
}
