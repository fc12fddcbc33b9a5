package example.parcelwright.ledger;

import java.util.ArrayList;
import java.util.List;

/** The postings of one account, oldest first. Each carries the key that makes it idempotent. */
public final class Journal {
    /** One amount, in cents; credits are positive. */
    public record Posting(String key, long cents) {}

    private final List<Posting> postings = new ArrayList<>();

    public boolean contains(String key) {
        return postings.stream().anyMatch(posting -> posting.key().equals(key));
    }

    public long amount(String key) {
        return postings.stream().filter(posting -> posting.key().equals(key)).mapToLong(Posting::cents).sum();
    }

    public void post(String key, long cents) {
        postings.add(new Posting(key, cents));
    }

    public long balance() {
        return postings.stream().mapToLong(Posting::cents).sum();
    }
}
