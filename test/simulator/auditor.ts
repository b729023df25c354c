import { Client } from 'undici';
import { type Actor, runAs } from './context.ts';

/** Reads from the service what it really has, with no trouble in between. */
export class Auditor {
  readonly #actor: Actor;
  readonly #url: string;

  constructor(actor: Actor, url: string) {
    this.#actor = actor;
    this.#url = url;
  }

  /** The source text of every entry from a time on that is older than `before`. */
  async entries(since: string, before: number): Promise<string[]> {
    const texts: string[] = [];
    const query = `start_date=${encodeURIComponent(since)}&end_date=${new Date(before).toISOString()}&page_size=100`;
    for (let start: string | null = ''; start !== null;) {
      const body = await this.get(
        `/logs?${query}${start === '' ? '' : `&start=${encodeURIComponent(start)}`}`,
      );
      const list = body.slice(body.indexOf('"data":[') + '"data":['.length, -']}'.length);
      texts.push(...list.split(/(?<=\}),(?=\{"tenant_id")/).filter(Boolean));
      start = (JSON.parse(body) as { pagination: { next: string | null } }).pagination.next;
    }
    return texts;
  }

  /** The body of a successful response. */
  get(path: string): Promise<string> {
    return runAs(this.#actor, async () => {
      const client = new Client(this.#url);
      const headers = { 'svc-api-key': 'sandbox-management-key' };
      const { statusCode, body } = await client.request({ path, method: 'GET', headers });
      const text = await body.text();
      await client.destroy();
      if (statusCode !== 200) throw new Error(`the service answered ${statusCode} to ${path}`);
      return text;
    });
  }
}
