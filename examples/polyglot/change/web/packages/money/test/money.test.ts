import { expect, it } from 'vitest';
import { formatCents } from '../src/index';

it('writes cents with two digits', () => {
  expect(formatCents(1205, 'EUR')).toBe('12.05 EUR');
});

it('writes what is owed with one sign', () => {
  expect(formatCents(-5, 'EUR')).toBe('-0.05 EUR');
});
