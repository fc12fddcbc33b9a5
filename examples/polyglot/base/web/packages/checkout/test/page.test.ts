import { expect, it } from 'vitest';
import { page } from '../src/app/(shop)/[[...slug]]/page';

it('names the start page', () => {
  expect(page(undefined, 450)).toEqual({ title: 'Parcels from 4.50 EUR', canonical: '/' });
});

it('names a zone page', () => {
  expect(page(['parcels', 'DE-2'], 1290)).toEqual({
    title: 'parcels / DE-2 from 12.90 EUR',
    canonical: '/parcels/DE-2',
  });
});
