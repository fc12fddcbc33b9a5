import { expect, it } from 'vitest';
import { formatCents } from '../src/index';

it('writes cents with two digits', () => {
  expect(formatCents(1205, 'EUR')).toBe('12.05 EUR');
});
