import fs from 'node:fs';
import path from 'node:path';
import { fileSource } from '../../../src/client/transfer/source.ts';
import { uploadFile, type UploadOptions, type UploadResult } from '../../../src/client/transfer/upload.ts';
import type { FaultServer } from '../../support/fault-server.ts';
import { signedAddress, type StoreScript } from '../../support/fault-store.ts';
import { content, instantClock, sha256, SHORT, store, transport } from './support.ts';
import { temporaryDirectory } from '../../support/directory.ts';

export const SMALL = content(100_000);

export const LARGE = content(20_000_000);

export interface Setup {
  readonly file: string;
  readonly target: FaultServer;
  readonly send: (over?: Partial<UploadOptions>) => Promise<UploadResult>;
  readonly slept: number[];
}

export async function setup(script: StoreScript, bytes = SMALL): Promise<Setup> {
  const file = path.join(temporaryDirectory(), 'request.csv');
  fs.writeFileSync(file, bytes);
  const target = await store(script);
  const clock = instantClock();
  const send = async (over: Partial<UploadOptions> = {}): Promise<UploadResult> =>
    uploadFile({
      transport: transport(),
      clock,
      url: signedAddress(target),
      source: await fileSource(file, { sha256: sha256(bytes) }),
      limits: SHORT,
      ...over,
    });
  return { file, target, send, slept: clock.slept };
}
