import { it } from 'vitest';
import { ended } from '../../support/run-here.ts';
import { Place } from './support.ts';

const place = new Place();

it.each([
  ['unknown members', Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [`purchase_inf${at}`, 1]))],
  ['wrong items', { message_extensions: Array.from({ length: 150_000 }, () => 3) }],
  ['digits', { broadcast_info: { x: '4'.repeat(900_000) } }],
  ['groups of digits', { broadcast_info: { x: Array.from({ length: 90_000 }, () => '4111 ') } }],
])('%s are refused in linear time', async (_, body) => {
  ended(await place.svc(['3ds', 'validate', '-'], { input: JSON.stringify(body) }), 13);
});
