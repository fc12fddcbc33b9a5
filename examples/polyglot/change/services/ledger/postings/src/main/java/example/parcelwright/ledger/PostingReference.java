package example.parcelwright.ledger;

/** The number that stands on a bank statement: {@code 2026-000317-2}. */
public final class PostingReference {
    private PostingReference() {}

    public static String format(int year, long number) {
        return String.format("%d-%06d-%d", year, number, checkDigit(number));
    }

    /** Catches a mistyped digit, though not two that changed places. */
    static long checkDigit(long number) {
        long sum = 0;
        for (long rest = number; rest > 0; rest /= 10) {
            sum += rest % 10;
        }
        return 9 - sum % 9;
    }
}
