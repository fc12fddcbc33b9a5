import { expect, it } from 'vitest';
import { waits } from '../src/rates/retry';

it('waits before each further try', () => {
  expect(waits(3)).toEqual([500, 500, 500]);
});
