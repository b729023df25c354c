// Where the project is and who answers for it. Only package.json names these, in `repository` and `author`.
import own from '../../package.json' with { type: 'json' };

/**
 * Returns the addresses of the repository, its page and its issues, and the maintainer, each undefined where package.json
 * lacks it, with a sentence for each that is missing. For a repository at
 * GitHub or GitLab npm derives the page and the issues too; for another host, add `homepage` and `bugs` there.
 */
export function origin(manifest = own) {
  const named = manifest.repository?.url ?? manifest.repository;
  const repository = named?.replace(/^git[+]/, '').replace(/[.]git$/, '');
  const { name, email } = typeof manifest.author === 'object' ? manifest.author : {};
  const maintainer = email === undefined ? manifest.author?.match?.(/^.+ <.+@.+>$/)?.[0] : `${name} <${email}>`;
  return {
    repository,
    homepage: manifest.homepage ?? (repository && `${repository}#readme`),
    bugs: manifest.bugs?.url ?? manifest.bugs ?? (repository && `${repository}/issues`),
    maintainer,
    missing: [
      repository === undefined &&
        '`repository` in package.json, from which homepage, bugs, the Homebrew formula and the Scoop manifest follow',
      maintainer === undefined && '`author` in package.json, as "Name <address>", the maintainer of the Debian package',
    ].filter(Boolean),
  };
}
