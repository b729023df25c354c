import { Client } from 'undici';
import { type Actor, runAs } from './context.ts';

/** Reads the true state of the service, without faults in between. */
export class Auditor {
  readonly #actor: Actor;
  readonly #url: string;

  constructor(actor: Actor, url: string) {
    this.#actor = actor;
    this.#url = url;
  }

  /** Returns the source text of every entry from `since` up to, not including, `before`. */
  async entries(since: string, before: number): Promise<string[]> {
    const texts: string[] = [];
    const query = `start_date=${encodeURIComponent(since)}&end_date=${new Date(before).toISOString()}&page_size=100`;
    for (let start: string | null = ''; start !== null;) {
      const body = await this.get(`/logs?${query}${start === '' ? '' : `&start=${encodeURIComponent(start)}`}`);
      const list = body.slice(body.indexOf('"data":[') + '"data":['.length, -']}'.length);
      texts.push(...list.split(/(?<=\}),(?=\{"tenant_id")/).filter(Boolean));
      start = (JSON.parse(body) as { pagination: { next: string | null } }).pagination.next;
    }
    return texts;
  }

  /**
   * Submits empty files with a key, and reads the list of jobs, which shows whose key it is. Notes each job before it gets
   * its file.
   */
  async submit(key: string, count: number, note: (job: string) => void): Promise<void> {
    await runAs(this.#actor, async () => {
      const service = new Client(this.#url);
      for (let number = 0; number < count; number += 1) {
        const headers = { 'svc-api-key': key };
        const created = await service.request({ path: '/account-updater/jobs', method: 'POST', headers });
        const { id, upload_url: url } = (await created.body.json()) as { id: string; upload_url: string };
        note(id);
        const store = new Client(new URL(url).origin);
        const { pathname, search } = new URL(url);
        const header = 'token,expiration_year,expiration_month,merchant_id\n';
        const put = await store.request({ path: pathname + search, method: 'PUT', body: header });
        await put.body.dump();
        await store.destroy();
      }
      await service.destroy();
    });
    await this.get('/account-updater/jobs', key);
  }

  /** Returns the body of a successful response. */
  get(path: string, key = 'sandbox-management-key'): Promise<string> {
    return runAs(this.#actor, async () => {
      const client = new Client(this.#url);
      const headers = { 'svc-api-key': key };
      const { statusCode, body } = await client.request({ path, method: 'GET', headers });
      const text = await body.text();
      await client.destroy();
      if (statusCode !== 200) throw new Error(`the service answered ${statusCode} to ${path}`);
      return text;
    });
  }
}
