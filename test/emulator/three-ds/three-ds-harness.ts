import type { SandboxOptions } from '../../../src/emulator/options.ts';
import { sandboxThreeDsCards } from '../../../src/emulator/vault/cards.ts';
import type { ScenarioName } from '../../../src/emulator/seed/test-cards.ts';
import type {
  Authentication,
  AuthenticationResult,
  ChallengeResult,
  CreatedSession,
  ThreeDsSession,
} from '../../../src/schema/three-ds/session.ts';
import { PRIVATE, sandbox } from '../harness.ts';

export const PURCHASE = {
  amount: '1000',
  currency: '840',
  exponent: '2',
  date: '20260301120000',
  transaction_type: 'purchase',
};

export const MERCHANT = {
  mid: '9876543210001',
  acquirer_bin: '414141',
  name: 'Example Shop',
  country_code: '840',
  category_code: '5411',
};

/** A valid body for a customer's payment. */
export const PAYMENT = {
  authentication_category: 'payment',
  authentication_type: 'payment-transaction',
  purchase_info: PURCHASE,
  merchant_info: MERCHANT,
  requestor_info: { id: '9876543210001', name: 'Example Requestor', url: 'https://shop.example' },
  cardholder_info: { name: 'Ann Example', email: 'ann@example.com' },
};

/** A valid body for a merchant's payment. */
export const MERCHANT_PAYMENT = { ...PAYMENT, authentication_type: 'other-payment', decoupled_challenge_max_time: 10 };

export interface Problem {
  title: string;
  detail: string;
  status: number;
  errors?: Record<string, string[]>;
}

/** The scenario of the card that succeeds without a challenge. */
export const FRICTIONLESS = 'Successful Frictionless Authentication';

/** Returns the token of the first test card of a scenario. */
export function tokenFor(scenario: ScenarioName, network?: string): string {
  const card = sandboxThreeDsCards().find(
    (card) => card.scenario === scenario && (network === undefined || card.network === network),
  );
  if (card === undefined) throw new Error(`no test card for ${scenario}`);
  return card.token;
}

/** Starts a sandbox, and returns it with functions that call 3-D Secure. */
export async function threeDsSandbox(options: Partial<SandboxOptions> = {}) {
  const on = await sandbox(options);
  const post = (path: string, body: unknown): Promise<Response> =>
    on.call(path, { method: 'POST', headers: PRIVATE, body: JSON.stringify(body) });
  const get = (path: string): Promise<Response> => on.call(path, { headers: PRIVATE });
  const created = async (body: unknown): Promise<CreatedSession> =>
    answer<CreatedSession>(await post('/3ds/sessions', body), 201);
  const start = (scenario: ScenarioName, type: 'customer' | 'merchant' = 'customer', network?: string) =>
    created({ token_id: tokenFor(scenario, network), type });
  const authenticate = (id: string, body: unknown): Promise<Response> => post(`/3ds/sessions/${id}/authenticate`, body);
  const authenticated = async (id: string, body: unknown = PAYMENT): Promise<AuthenticationResult> =>
    answer<AuthenticationResult>(await authenticate(id, body), 200);
  const read = async (id: string): Promise<ThreeDsSession & { authentication: Authentication }> =>
    answer(await get(`/3ds/sessions/${id}`), 200);
  const result = async (id: string): Promise<ChallengeResult> =>
    answer<ChallengeResult>(await get(`/3ds/sessions/${id}/challenge-result`), 200);
  /** Starts a session and its challenge, and returns the address of the challenge page. */
  const challenged = async (scenario: ScenarioName, body: unknown = PAYMENT) => {
    const { id } = await start(scenario);
    await authenticated(id, body);
    const page = (await result(id)).acs_challenge_url ?? '';
    return { id, page };
  };
  return { ...on, post, get, created, start, authenticate, authenticated, read, result, challenged };
}

type Sandbox = Awaited<ReturnType<typeof threeDsSandbox>>;

/** Sets outcomes at a running sandbox, and returns those that are set. */
export async function setOutcomes(on: Sandbox, text: string): Promise<{ outcome: string; matched: number }[]> {
  const response = await on.call('/sandbox/outcomes', { method: 'POST', body: text });
  return (await answer<{ data: { outcome: string; matched: number }[] }>(response, 200)).data;
}

/** Authenticates a session of the card that succeeds without a challenge, and reads it. */
export async function authenticated(on: Sandbox, body: unknown = PAYMENT) {
  const { id } = await on.start(FRICTIONLESS);
  await on.authenticated(id, body);
  return { id, ...(await on.read(id)).authentication };
}

/** Posts a form as a browser does, but follows no redirect. */
export function postForm(address: string, fields: Record<string, string>): Promise<Response> {
  return fetch(address, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
}

/** Returns the body of a response, which must have this status. */
async function answer<Body>(response: Response, status: number): Promise<Body> {
  const text = await response.text();
  if (response.status !== status) throw new Error(`${response.status}: ${text}`);
  return JSON.parse(text) as Body;
}
