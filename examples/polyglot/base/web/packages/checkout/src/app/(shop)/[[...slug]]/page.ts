import { formatCents, type Cents } from '@parcelwright/money';

export interface Page {
  title: string;
  canonical: string;
}

/** The shop's pages share one route: `/`, `/parcels`, `/parcels/DE-2`. */
export function page(slug: string[] | undefined, from: Cents): Page {
  const parts = slug ?? [];
  const price = formatCents(from, 'EUR');
  return {
    title: parts.length === 0 ? `Parcels from ${price}` : `${parts.join(' / ')} from ${price}`,
    canonical: '/' + parts.join('/'),
  };
}
