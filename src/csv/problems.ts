import type { Finding, Problem, Rule } from './request-file.ts';

const KEPT = 20;

/** Collects problems in bounded memory: the first 20, and counts of all. */
export class Problems {
  readonly first: Problem[] = [];
  readonly byRule: Partial<Record<Rule, number>> = {};
  count = 0;

  add(line: number, findings: readonly Finding[]): void {
    for (const finding of findings) {
      this.count += 1;
      this.byRule[finding.rule] = (this.byRule[finding.rule] ?? 0) + 1;
      if (this.first.length < KEPT) this.first.push({ line, ...finding });
    }
  }
}
