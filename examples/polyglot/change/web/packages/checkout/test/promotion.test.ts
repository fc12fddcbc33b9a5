import { describe, expect, it } from 'vitest';
import { applies, reduced, type Promotion } from '../src/cart/promotion';

const spring: Promotion = { code: 'SPRING', country: 'DE', percent: 10, minParcels: 5, from: '2026-03-01', until: '2026-03-31' };
const cart = { country: 'DE', parcels: 12, subtotal: 9990 };

describe('promotion', () => {
  it('takes its percentage off', () => {
    expect(reduced(spring, cart, '2026-03-10')).toBe(8991);
  });

  it('ends', () => {
    expect(applies(spring, cart, '2026-03-31')).toBe(true);
    expect(applies(spring, cart, '2026-04-01')).toBe(false);
  });

  it('is for one country', () => {
    expect(applies(spring, { ...cart, country: 'FR' }, '2026-03-10')).toBe(false);
    expect(applies(spring, { ...cart, parcels: 1 }, '2026-03-10')).toBe(false);
  });
});
