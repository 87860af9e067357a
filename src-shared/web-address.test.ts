import { expect, test } from 'vitest';
import { contract } from './contract/contract.ts';
import { SettingsSchema } from './settings.ts';

const SECRET = 'https://ada:pa55@models.example/list.json';

test('an address with a password is kept nowhere', () => {
  const asked = [
    () => contract['models.download'].input.parse({ url: SECRET }),
    ...[{ hubAddress: SECRET }, { modelCatalogue: SECRET }, { sharing: { s3: { endpoint: SECRET } } }].map(
      (settings) => () => SettingsSchema.parse(settings),
    ),
  ];
  for (const ask of asked) expect(ask).toThrow(/name (or|and) password/);
  expect(contract['models.download'].input.parse({ url: 'https://models.example/a@b.gguf' }).url).toContain(
    '@',
  );
});
