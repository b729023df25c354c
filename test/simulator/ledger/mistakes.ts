/** Mistakes that can be planted in the protocol. The histories must find each of them. */
export const MISTAKES = {
  'upload first': 'a part is uploaded before its claim is made',
  'lost is made': 'a create without a response counts as made',
  'no second look': 'after a lost number the next one is taken without a comparison',
  'free rows': 'a release frees rows, not a claim',
  lease: "a claim ends two hours after it was made, by the machine's clock",
  'a 404 frees': 'a 404 after the expiry of the address frees the rows',
  'any list frees': 'a list without the job frees the rows, even if it does not show the new job',
  'old list frees': 'a list frees the rows of a job that may be older than the service remembers',
  'take over': 'a machine uploads to a job that another machine claimed',
  'no condition': 'the store ignores the condition of a write',
  'between pages': 'two lists count even where the job would be between two pages of both',
  'new tokens late': 'results are delivered before the new tokens stand in the ledger',
  'repeated rows': 'a row that stands twice in a file is sent twice',
  'green early': 'exit 0 once everything is claimed',
  'reader delivers': 'a machine that may only read delivers results that the ledger does not know',
  'error is refusal': 'a 5xx after the last bytes counts as a proof that they were not taken',
  'no last look': 'claims that others made meanwhile are not read before the command ends',
  'no mark': 'a local ledger is moved without a mark',
  'mark unseen': 'nobody looks whether the local ledger moved before bytes leave',
  'both claims': 'a machine uploads to its claim although another claim has some of the rows',
  'moved twice': 'a claim is moved although the shared ledger has it',
  'goes on': 'a claim ends although the record of a machine still goes on with its job',
  'release is final': 'a claim that is made again after a release does not stand',
  'claims twice': 'rows are claimed again for a job whose claim stands',
  'token twice': 'a token with several merchants stands twice in a job',
} as const;

/** What the protocol relies on: if one of these is broken, no protocol of this kind works. */
export const ASSUMPTIONS = {
  'list omits': 'a list may omit any job (one in four)',
  'late file': 'a removed job may take a late file',
  'paid failure': 'a failed job is paid for',
  'forgets early': 'the service forgets jobs after a day',
} as const;

export type Plant = keyof typeof MISTAKES | keyof typeof ASSUMPTIONS;
