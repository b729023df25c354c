import * as z from 'zod';
import { SvcError } from '../../../src/base/errors.ts';
import type { ApiRequest } from '../../../src/client/http/request.ts';
import { type ReadResponse, readResponse } from '../../../src/client/http/response.ts';
import { expectClean } from './support/core.ts';

export const SHAPE = z.looseObject({
  id: z.string(),
  status: z.string(),
  count: z.number(),
  inner: z.looseObject({ name: z.string(), tags: z.array(z.string()) }),
  note: z.string().optional(),
});

export type Entry = z.infer<typeof SHAPE>;

export const GOOD: Entry = { id: 'a', status: 'pending', count: 3, inner: { name: 'n', tags: ['x', 'y'] } };

const REQUEST: ApiRequest<Entry> = { method: 'GET', path: '/things/1', key: 'private', shape: SHAPE };

export const FACTS = {
  request: REQUEST,
  url: new URL('https://api.test/things/1'),
  keyOrigin: 'test',
  hide: (text: string) => text,
};

export function answerOf(body: unknown): ReadResponse {
  return { status: 200, text: JSON.stringify(body), complete: true, headers: () => [], header: () => undefined };
}

export function read(body: unknown): Entry {
  return readResponse(FACTS, SHAPE, answerOf(body));
}

export function failure(body: unknown): SvcError {
  try {
    read(body);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    expectClean(error);
    return error;
  }
  throw new Error('it was accepted');
}
