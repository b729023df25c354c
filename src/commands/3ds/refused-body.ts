import { SvcError } from '../../errors.ts';
import type { Violation } from '../../three-ds/violation.ts';

/** More than this only buries what matters. */
const MOST_TOLD = 50;

/** The error for a body that breaks rules: each with its path and an example, and nothing of the body itself. */
export function refusedBody(name: string, violations: readonly Violation[]): SvcError {
  const told = violations.slice(0, MOST_TOLD);
  const count = violations.length === 1 ? 'breaks a rule' : `breaks ${violations.length} rules`;
  const more = told.length < violations.length ? ` (the first ${MOST_TOLD} are told)` : '';
  return new SvcError('refused_input', `${name} ${count} of the interface${more}; nothing was sent`, {
    hint: "Mend them and check again with 'svc 3ds validate'; 'svc 3ds template' prints a right body.",
    facts: { problems: told.map(problemWords), violations: told },
  });
}

function problemWords({ path, rule, example, suggestion }: Violation): string {
  const meant = suggestion === undefined ? '' : `; did you mean ${suggestion}?`;
  const such =
    example === undefined || suggestion !== undefined ? '' : `; for example ${JSON.stringify(example)}`;
  return `${path} ${rule}${meant}${such}`;
}
