import { defineCommand } from '../../cli/app/command.ts';
import { resumeFacts, resumeNamed, resumeRequest } from '../resume/resume.ts';
import { resumeParameters } from '../resume/resume-parameters.ts';

const { wait: _, ...parameters } = resumeParameters;

export const wait = defineCommand({
  description: "Does what 'svc au resume --wait' does.",
  examples: [
    ['svc au wait run-20260131-0a1b2c3d-4e5f', 'until every part is done, then its results'],
    ['svc au wait 5f0c… --timeout 50m', 'in a CI job: exit code 11 when it is still pending then'],
  ],
  ...resumeFacts,
  parameters,
  run: (context, input) => resumeNamed(context, { ...input, wait: true }),
  request: (context, { of }) => resumeRequest(context, of),
});
