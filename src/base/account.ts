import { hostname } from 'node:os';
import type { System } from './system.ts';

/** Who runs a command. */
export interface Operator {
  /** The name of the account, or `uid 65532` for an account without a name, as in many containers. */
  readonly user: string;
  readonly host: string;
  /** The name in USER or LOGNAME, for an account without a name. Anybody can set these variables. */
  readonly claimed?: string | undefined;
}

const MAX_CHARACTERS = 100;

/** The form of a user name, with too few digits for a card number. */
const USER_NAME = /^(?!(?:\D*\d){13})[A-Za-z_][\w.@-]{0,63}$/;

/** Returns who runs a command. */
export function operatorOf({ env, account }: Pick<System, 'env' | 'account'>): Operator {
  const { name, uid } = account?.() ?? {};
  const host = hostname().slice(0, MAX_CHARACTERS);
  if (name !== undefined) return { user: name.slice(0, MAX_CHARACTERS), host };
  const user = uid === undefined ? 'unknown' : `uid ${uid}`;
  const claimed = [env['USER'], env['LOGNAME']].find((each) => USER_NAME.test(each ?? ''));
  return claimed === undefined ? { user, host } : { user, host, claimed };
}

/** Whether the system has a name for the account. */
export function isNamed(system: Pick<System, 'account'>): boolean {
  return system.account?.().name !== undefined;
}

/** Returns `ana@host`, or `uid 65532@host (claimed: ana)`. */
export function operatorText({ user, host, claimed }: Operator): string {
  return `${user}@${host}${claimed === undefined ? '' : ` (claimed: ${claimed})`}`;
}
