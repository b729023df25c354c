import fs from 'node:fs';
import path from 'node:path';
import { type DownloadOptions, type DownloadResult, downloadFile } from '../../../src/client/transfer/download.ts';
import type { FaultServer } from '../../support/fault-server.ts';
import { signedAddress, type StoreScript } from '../../support/fault-store.ts';
import { content, host, SHORT, store, transport } from './support.ts';
import { temporaryDirectory } from '../../support/directory.ts';

/** The object in the store of these tests. */
export const OBJECT = content(3_000_000);

/** A scripted store, and a download from it. */
export interface Setup {
  readonly target: string;
  readonly from: FaultServer;
  readonly slept: number[];
  readonly get: (over?: Partial<DownloadOptions>) => Promise<DownloadResult>;
  /** Returns the names in the directory of the target. */
  readonly files: () => string[];
}

export async function setup(script: StoreScript): Promise<Setup> {
  const dir = temporaryDirectory();
  const target = path.join(dir, 'results.csv');
  const from = await store(script);
  const self = host();
  return {
    target,
    from,
    slept: self.slept,
    files: () => fs.readdirSync(dir).toSorted(),
    get: (over = {}) =>
      downloadFile({
        transport: transport(),
        host: self,
        clock: self.clock,
        signal: self.signal,
        address: () => Promise.resolve(signedAddress(from)),
        target,
        overwrite: false,
        limits: SHORT,
        ...over,
      }),
  };
}
