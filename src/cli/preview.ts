import type { ApiRequest } from '../http/request.ts';
import { flag } from './parameter.ts';

/** `--dry-run` of commands that show the request that would change something. */
export const dryRunParameter = flag(
  '--dry-run',
  'check everything, show the request that would change something, and do not send it',
);

/** A request to an address outside the service's API: a pre-signed address, or the target of webhook events. */
export interface DirectRequest {
  readonly method: 'PUT' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** The file that would be the body, as the operator called it. */
  readonly file?: { readonly name: string; readonly bytes: number } | undefined;
}

/** A request that a command can show in place of sending it. */
export type PreviewRequest = ApiRequest<unknown> | DirectRequest;

/** What a command resolves to when it only previews: the request is shown, and nothing is sent. */
export class Preview {
  readonly request: PreviewRequest;

  constructor(request: PreviewRequest) {
    this.request = request;
  }
}
