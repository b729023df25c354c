import type { Chance } from '../../support/chance.ts';
import type { Entry } from './types.ts';

/**
 * A store of objects that are created once. A shared one may miss an object of the last minutes when it is read, but
 * never when it is created. A local one is a folder of one machine, which misses nothing.
 */
export class Store {
  readonly objects = new Map<string, { readonly body: Entry; readonly at: number }>();
  readonly #ignoresCondition: boolean;

  constructor({ ignoresCondition }: { readonly ignoresCondition: boolean }) {
    this.#ignoresCondition = ignoresCondition;
  }

  create(name: string, body: Entry, now: number): 'created' | 'exists' {
    if (this.objects.has(name) && !this.#ignoresCondition) return 'exists';
    this.objects.set(name, { body, at: now });
    return 'created';
  }

  read(name: string, { now, calm, random }: { now: number; calm: boolean; random: Chance }): Entry | 'missing' {
    const object = this.objects.get(name);
    if (!object) return 'missing';
    const isShared = name.startsWith('shared/');
    if (isShared && !calm && now - object.at < 5 && random.happens(0.2)) return 'missing';
    return object.body;
  }

  /** Returns the cycles of a place that have an entry. */
  cycles(place: string): string[] {
    const names = [...this.objects.keys()].filter((name) => name.startsWith(`${place}/`));
    return [...new Set(names.map((name) => name.split('/')[1] ?? ''))].filter((cycle) => cycle !== 'moved');
  }
}
