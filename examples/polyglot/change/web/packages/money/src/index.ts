/** Amounts are whole cents everywhere, debts below zero; only the screen sees a decimal point. */
export type Cents = number;

export function formatCents(cents: Cents, currency: string): string {
  const sign = cents < 0 ? '-' : '';
  const whole = Math.abs(cents);
  const minor = String(whole % 100).padStart(2, '0');
  return `${sign}${Math.floor(whole / 100)}.${minor} ${currency}`;
}
