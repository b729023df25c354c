// A purchase of another day would be warned of.
const NOW = new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14);

/** Returns a valid body of the given category and type, with every field that any combination can need. */
export function fullBody(category = 'payment', type = 'payment-transaction'): Record<string, unknown> {
  return {
    authentication_category: category,
    authentication_type: type,
    decoupled_challenge_max_time: 60,
    purchase_info: {
      amount: '1000',
      currency: '978',
      exponent: '2',
      date: NOW,
      transaction_type: 'purchase',
      installment_count: '12',
      recurring_expiration: '99991231',
      recurring_frequency: '28',
    },
    merchant_info: { mid: '12345', acquirer_bin: '414141', name: 'Shop', country_code: '276', category_code: '5411' },
    requestor_info: { id: '12345', name: 'Shop', url: 'https://shop.example' },
    cardholder_info: { name: 'Ann Example', email: 'ann@shop.example' },
  };
}

/** Returns a copy of `body` with another value at the dotted path; undefined removes the member. */
export function changed(body: unknown, path: string, value: unknown): unknown {
  const copy = structuredClone(body) as Record<string, unknown>;
  const parts = path.split('.');
  const last = parts.pop() ?? '';
  let holder = copy;
  for (const part of parts) holder = (holder[part] ??= {}) as Record<string, unknown>;
  if (value === undefined) delete holder[last];
  else holder[last] = value;
  return copy;
}
