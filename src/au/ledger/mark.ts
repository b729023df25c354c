import * as z from 'zod/mini';
import { parsedJson } from '../../schema/json-value.ts';
import { damagedLedger } from './damage.ts';

const markSchema = z.union([z.object({ cycle: z.string() }), z.object({ ignored_at: z.string() })]);

/** What the ledger knows of a job: the cycle that it belongs to, or that another system created it. */
type Mark = z.infer<typeof markSchema>;

/** Returns the bytes of the mark of a job of a cycle. */
export function markBytes(cycle: string): Uint8Array {
  return Buffer.from(`${JSON.stringify({ version: 1, cycle })}\n`);
}

/** Reads a mark. `place` is its name in messages. @throws SvcError `config` for one that is empty or cut */
export function parseMark(bytes: Uint8Array, place: string): Mark {
  const mark = markSchema.safeParse(parsedJson(Buffer.from(bytes).toString()));
  if (!mark.success) throw damagedLedger(place, 'it is no mark of a job');
  return mark.data;
}
