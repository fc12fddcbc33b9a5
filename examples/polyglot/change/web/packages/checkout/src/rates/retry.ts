/** The longest wait, in milliseconds: beyond it the shopper has left. */
const CEILING = 8_000;

/** Waits before the rating service is asked again, in milliseconds: doubled each time. */
export function waits(tries: number, retryAfter?: string): number[] {
  const first = retryAfter === undefined ? 500 : Number(retryAfter) * 1_000;
  const plan: number[] = [];
  for (let wait = first; plan.length < tries; wait *= 2) {
    plan.push(Math.min(wait, CEILING));
  }
  return plan;
}
