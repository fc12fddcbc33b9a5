package example.parcelwright.ledger;

/** The number that stands on a bank statement: {@code 2026-000317}. */
public final class PostingReference {
    private PostingReference() {}

    public static String format(int year, long number) {
        return String.format("%d-%06d", year, number);
    }
}
