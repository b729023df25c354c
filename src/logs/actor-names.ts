import { isSvcError, SvcError } from '../base/errors.ts';
import type { Context } from '../cli/app/command.ts';
import { serviceOf } from '../cli/app/service.ts';
import { type ApplicationNames, knownApplications, rememberApplications } from '../cli/config/cache.ts';
import { cleanText, loadUnicodeWidth, type TextWidth } from '../cli/output/text.ts';
import type { View } from '../cli/output/view.ts';
import { isObject } from '../schema/json-value.ts';
import type { Log } from '../schema/log.ts';
import { within } from './follow/follow.ts';
import { logView } from './view.ts';

/** How long a finished command waits for names, which only the next command can show. */
const PATIENCE_MS = 3_000;
const MAX_WIDTH = 23;
const ID_LENGTH = 8;

/** Shows applications by name in a table. The first page uses the cache; later ones use a request made after the first. */
export class ActorNames {
  readonly view: View<Log>;
  readonly #context: Context;
  readonly #service: string;
  readonly #byTenant = new Map<string, ApplicationNames | undefined>();
  #reading: Promise<void> | undefined;

  constructor(context: Context) {
    this.#context = context;
    this.#service = serviceOf(context);
    const show = (value: unknown, log: Log): unknown => this.#nameOf(log) ?? value;
    const columns = logView.columns.map((column) =>
      column.path === 'actor_type' ? Object.assign({}, column, { show, least: MAX_WIDTH + ID_LENGTH + 3 }) : column,
    );
    this.view = { ...logView, columns };
  }

  async *learned(batches: AsyncIterable<readonly Log[]>): AsyncGenerator<readonly Log[]> {
    for await (const batch of batches) {
      yield batch;
      this.#reading ??= this.#learnFrom(batch);
    }
    const { clock, signal } = this.#context;
    if (this.#reading) await within(this.#reading, PATIENCE_MS, { clock, signal });
  }

  #nameOf({ tenant_id: tenant, actor_id: id }: Log): string | undefined {
    const name = tenant && id ? this.#namesOf(tenant)?.get(id) : undefined;
    return name === undefined ? undefined : `${name} (${id?.slice(0, ID_LENGTH)})`;
  }

  #namesOf(tenantId: string): ApplicationNames | undefined {
    if (!this.#byTenant.has(tenantId)) {
      const { system, clock } = this.#context;
      this.#byTenant.set(tenantId, knownApplications(system, { service: this.#service, tenantId }, clock.now()));
    }
    return this.#byTenant.get(tenantId);
  }

  #learnFrom(batch: readonly Log[]): Promise<void> | undefined {
    const isUnnamed = ({ tenant_id: tenant, actor_id: id, actor_type: type }: Log): boolean =>
      Boolean(tenant && id) && type !== 'user' && this.#namesOf(tenant ?? '') === undefined;
    const tenantId = batch.find(isUnnamed)?.tenant_id;
    if (typeof tenantId !== 'string') return undefined;
    const reading = this.#learn(tenantId);
    // A tail that ends earlier does not wait for the names.
    reading.catch(() => undefined);
    return reading;
  }

  async #learn(tenantId: string): Promise<void> {
    const { system, clock } = this.#context;
    const names = await this.#read();
    if (names === undefined) return;
    this.#byTenant.set(tenantId, names);
    rememberApplications(system, { service: this.#service, tenantId }, names, clock.now());
  }

  /** Reads the names. An empty map if the key may not read them, which is cached too; undefined if the request failed. */
  async #read(): Promise<ApplicationNames | undefined> {
    try {
      return await readApplications(this.#context);
    } catch (error) {
      if (!isSvcError(error)) throw error;
      return error.code === 'forbidden' || error.code === 'not_found' ? new Map() : undefined;
    }
  }
}

/** Reads the names of the first 100 applications, cut to the width of a table. @throws SvcError if they cannot be read */
export async function readApplications(context: Context): Promise<ApplicationNames> {
  const client = await context.client();
  const request = { method: 'GET', path: '/applications', query: { size: 100 }, key: 'management' } as const;
  const { body } = await client.any.send({ ...request, attempts: 1 });
  const data = isObject(body?.json) ? body.json['data'] : undefined;
  if (!Array.isArray(data)) throw new SvcError('bad_response', 'the list of applications has no data');
  const ruler = await loadUnicodeWidth();
  return new Map(data.flatMap((item: unknown) => pairOf(context, item, ruler)));
}

function pairOf(context: Context, item: unknown, ruler: TextWidth): [id: string, name: string][] {
  if (!isObject(item) || typeof item['id'] !== 'string' || typeof item['name'] !== 'string') return [];
  const name = context.out.redact(cleanText(item['name'])).trim();
  return name === '' ? [] : [[item['id'], ruler.cut(name, MAX_WIDTH)]];
}

/** Returns a name as a table shows it. */
export async function shortName(name: string): Promise<string> {
  return (await loadUnicodeWidth()).cut(cleanText(name).trim(), MAX_WIDTH);
}
