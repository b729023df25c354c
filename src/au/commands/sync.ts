import { defineCommand } from '../../cli/app/command.ts';
import { resumeFacts, resumeNamed, resumeRequest } from '../resume/resume.ts';
import { resumeParameters } from '../resume/resume-parameters.ts';

const { of: _, ...parameters } = resumeParameters;

export const sync = defineCommand({
  description: "Does what 'svc au resume' without an argument does.",
  examples: [['svc au sync', 'from cron, say every half hour']],
  ...resumeFacts,
  parameters,
  run: (context, input) => resumeNamed(context, { ...input, of: undefined }),
  request: (context) => resumeRequest(context, undefined),
});
