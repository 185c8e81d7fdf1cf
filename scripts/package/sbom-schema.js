// A bill of materials against the schema of CycloneDX, which @cyclonedx/cyclonedx-library brings along.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Ajv } from 'ajv';

const schemas = join(
  dirname(createRequire(import.meta.url).resolve('@cyclonedx/cyclonedx-library/package.json')),
  'res/schema',
);
const schema = (name) => JSON.parse(readFileSync(join(schemas, `${name}.SNAPSHOT.schema.json`), 'utf8'));
const isUrl = (text) => URL.canParse(text, 'http://example.invalid');
const formats = {
  'date-time': (text) => !Number.isNaN(Date.parse(text)),
  'iri-reference': isUrl,
  uri: isUrl,
  'idn-email': /@/,
};

/** Where the object breaks the schema of its version, one text each. */
export function schemaProblems(bom) {
  // The schema has keywords that only other tools know.
  const ajv = new Ajv({ allErrors: true, strict: false, formats });
  // By the names under which the schema refers to them.
  for (const name of ['spdx', 'jsf-0.82']) {
    ajv.addSchema(schema(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  }
  const validate = ajv.compile(schema(`bom-${bom.specVersion}`));
  return validate(bom) ? [] : validate.errors.map(({ instancePath, message }) => `${instancePath} ${message}`);
}
