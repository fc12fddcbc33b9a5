import { expect, it } from 'vitest';
import { waits } from '../src/rates/retry';

it('doubles the wait before each further try', () => {
  expect(waits(3)).toEqual([500, 1000, 2000]);
});
