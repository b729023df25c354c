import { entry, type GroupSpec } from '../../app/command.ts';

export const profile: GroupSpec = {
  commands: [
    entry('list', 'list the stored profiles and the built-in sandbox', () => import('./profile.ts')),
    entry('show', 'show the settings of a profile, and which keys are stored', () => import('./profile.ts')),
    entry('use', 'choose the default profile', () => import('./profile.ts')),
    entry(
      'set',
      'change a setting of the profile in use, or of the one named with --profile',
      () => import('./set.ts'),
    ),
    entry('delete', 'delete a profile with its stored keys', async () => ({
      delete: (await import('./profile.ts')).deleteProfile,
    })),
  ],
  defaultCommand: 'list',
};
