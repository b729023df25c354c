import type { View } from '../../output/view.ts';
import { BODY, fieldsBelow } from '../../three-ds/fields.ts';

/** How the body of an authentication is shown. */
export function requestBodyView(): View<Readonly<Record<string, unknown>>> {
  const fields = fieldsBelow(BODY).filter(({ kind }) => kind !== 'object');
  return { name: 'request body', fields: fields.map(({ path }) => path), columns: [] };
}
