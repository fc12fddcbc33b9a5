import type { Cents } from '@parcelwright/money';

/** A campaign that takes a percentage off carts of one country. */
export interface Promotion {
  code: string;
  country: string;
  percent: number;
  /** Carts with fewer parcels pay the full price. */
  minParcels: number;
  /** First and last day, as ISO dates in the shop's time zone. */
  from: string;
  until: string;
}

export interface Cart {
  country: string;
  parcels: number;
  subtotal: Cents;
}

/** Whether the campaign counts for this cart on this day. */
export function applies(promotion: Promotion, cart: Cart, today: string): boolean {
  return (
    cart.parcels >= promotion.minParcels &&
    cart.country === promotion.country &&
    promotion.from <= today && today <= promotion.until
  );
}

export function reduced(promotion: Promotion, cart: Cart, today: string): Cents {
  if (!applies(promotion, cart, today)) {
    return cart.subtotal;
  }
  return cart.subtotal - Math.round((cart.subtotal * promotion.percent) / 100);
}
