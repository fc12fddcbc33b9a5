/** Waits before the rating service is asked again, in milliseconds. */
export function waits(tries: number): number[] {
  return new Array<number>(tries).fill(500);
}
