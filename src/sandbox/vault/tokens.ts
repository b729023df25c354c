import { NAMESPACE, uuidOf } from '../seed/random.ts';
import type { StartEvent } from '../state/events.ts';

/** A card token was created. Holds no number: of a published test card its places in the tables say enough. */
export interface TokenEvent {
  readonly type: 'token';
  readonly at: number;
  /** Tells the process that wrote the line which of the tokens is its own. */
  readonly nonce: string;
  /** Number of the application that created it. */
  readonly application: number;
  readonly firstSix: string;
  readonly lastFour: string;
  /** Digits of the number. */
  readonly length: number;
  /** 2 digits. */
  readonly month?: string;
  /** 4 digits. */
  readonly year?: string;
  /** Place in the test cards of the Account Updater. */
  readonly updaterCard?: number;
  /** Place in the test cards of 3-D Secure. */
  readonly threeDsCard?: number;
}

/** A card token that was created. */
export interface NewToken {
  readonly id: string;
  readonly created: TokenEvent;
}

/** Every card token that was created in a sandbox. */
export class NewTokens {
  readonly #start: StartEvent;
  readonly #byId = new Map<string, NewToken>();
  readonly #byNonce = new Map<string, NewToken>();

  constructor(start: StartEvent) {
    this.#start = start;
  }

  /** All of them, oldest first. */
  all(): NewToken[] {
    return [...this.#byId.values()];
  }

  /** Finds a token by its id. */
  find(id: string): NewToken | undefined {
    return this.#byId.get(id);
  }

  /** The token that an event of this nonce made. */
  createdWith(nonce: string): NewToken | undefined {
    return this.#byNonce.get(nonce);
  }

  /** Takes one event in. */
  apply(created: TokenEvent): void {
    const { seed, at } = this.#start;
    const number = this.#byId.size + 1;
    const id = uuidOf(seed, NAMESPACE.newToken, Math.floor(at / 2 ** 32), at % 2 ** 32, number);
    const token: NewToken = { id, created };
    this.#byId.set(id, token);
    this.#byNonce.set(created.nonce, token);
  }
}
