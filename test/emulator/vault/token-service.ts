import { expect } from 'vitest';
import { threeDsSandbox } from '../three-ds/three-ds-harness.ts';

// These numbers have correct check digits, and are not numbers of test cards.
export const VISA = '4242424242424242';

export const JCB = '3530111333300000';

export interface Token {
  id: string;
  type: string;
  data: { number: string; expiration_month?: number; expiration_year?: number };
}

export async function tokens() {
  const on = await threeDsSandbox();
  const create = async (number: string, rest: Record<string, unknown> = {}): Promise<Token> => {
    const answer = await on.post('/tokens', { type: 'card', data: { number, ...rest } });
    expect(answer.status).toBe(201);
    return (await answer.json()) as Token;
  };
  const outcome = async (token_id: string): Promise<string> => {
    const { id } = await on.created({ token_id, type: 'customer' });
    return (await on.authenticated(id)).authentication_status;
  };
  return { ...on, create, outcome };
}
