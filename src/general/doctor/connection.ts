import type { Socket } from 'node:net';
import type { Clock, Environment } from '../../base/system.ts';
import { TransportFailure } from '../../client/http/failure.ts';
import type { ClientCertificate } from '../../client/http/tls-options.ts';

/** The service to check, and how this machine reaches it. */
export interface NetworkPath {
  readonly baseUrl: URL;
  readonly env: Environment;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly userAgent: string;
  /** The certificate that the service gets to see. */
  readonly certificate: ClientCertificate | undefined;
}

/** The time limit for each step, in milliseconds. */
export const STEP_MS = 3_000;

/** The time limit for all steps, in milliseconds. */
export const ALL_STEPS_MS = 8_000;

/** Opens a connection within the time limit. Rejects with the system's error or a `TransportFailure`. */
export function connected<S extends Socket>(
  open: (done: (result: S | Error) => void) => { destroy(): unknown },
): Promise<S> {
  return new Promise((resolve, reject) => {
    const settle = (result: S | Error): void => {
      clearTimeout(timer);
      if (!(result instanceof Error)) return resolve(result);
      opening.destroy();
      reject(result);
    };
    const late = new TransportFailure('timeout', 'connect', `no response within ${STEP_MS / 1000} s`);
    const timer = setTimeout(() => settle(late), STEP_MS);
    const opening = open(settle);
  });
}

export function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}
