// Licences of what a package holds: which are accepted, and that every library and font comes with the text of its own.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import satisfies from 'spdx-satisfies';

/** Decided: they let the package be given to a customer with their texts. Another one is an error, and a person decides. */
const ACCEPTED = ['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-3-Clause', 'ISC', 'MIT', 'OFL-1.1', 'Unlicense'];

/** Libraries published without a text: their licences and who holds the rights, by package.json and the heads of their files. */
const PUBLISHED_WITHOUT = {
  '@bufbuild/protobuf': { 'Apache-2.0': '2021-2026 Buf Technologies, Inc.', 'BSD-3-Clause': '2008 Google Inc.' },
  'abstract-logging': { MIT: 'James Sumners' },
  brotli: { MIT: 'Devon Govett', 'Apache-2.0': '2013 Google Inc.' },
  dfa: { MIT: 'Devon Govett' },
  fontkit: { MIT: 'Devon Govett' },
};
const TEXT_FILE = /^(un)?licen[cs]e|^copying/i;
/** Shorter is a reference to a text, and none. */
const MIN_TEXT_LENGTH = 200;

/** Writes the licences of libraries that were published without into the folders of these libraries. */
export function addLicenceTexts(folder) {
  for (const [name, licences] of Object.entries(PUBLISHED_WITHOUT)) {
    const library = join(folder, 'node_modules', name);
    if (textIn(library) !== '') throw new Error(`${name} has a licence text by now: strike it from PUBLISHED_WITHOUT`);
    const texts = Object.entries(licences).map(([id, holder]) => {
      const text = readFileSync(new URL(`licences/${id}.txt`, import.meta.url), 'utf8');
      return `${id}\n\nCopyright (c) ${holder}\n\n${text}`;
    });
    writeFileSync(join(library, 'LICENSE'), texts.join(`\n${'-'.repeat(80)}\n\n`));
  }
}

/**
 * What is wrong with the licences of a staged installation, one text each: a component of its bill of materials under
 * another licence or none, a library or font without a text.
 */
export function licenceProblems(folder, { components }) {
  const problems = components.flatMap(({ 'bom-ref': ref, licenses = [] }) => {
    const expression = licenses.map((one) => one.expression ?? one.license.id ?? one.license.name).join(' AND ');
    return isAccepted(expression) ? [] : [`licence of ${ref} is not accepted: ${expression || 'unknown'}`];
  });
  for (const library of librariesIn(join(folder, 'node_modules'))) {
    if (textIn(join(folder, library)) === '') problems.push(`no licence text in ${library}`);
  }
  for (const { name, text } of builtInLibraries(folder)) {
    if (text.length < MIN_TEXT_LENGTH) problems.push(`no licence text of ${name}, which is built in`);
  }
  const fonts = join(folder, 'dist/fonts');
  for (const font of readdirSync(fonts).filter((file) => file.endsWith('.ttf'))) {
    const file = join(fonts, `${font.split('-')[0]}-LICENSE.md`);
    if (!existsSync(file)) problems.push(`no licence text of the font ${font}`);
  }
  return problems;
}

/** The libraries that the bundler built in, by the file of licences that it writes for each part of dist. */
export function builtInLibraries(folder) {
  return ['dist', 'dist/web'].flatMap((part) => {
    const markdown = readFileSync(join(folder, part, 'THIRD-PARTY-LICENSES.md'), 'utf8');
    const [, ...found] = markdown.split(/^## (\S+) - (\S+) \(([^)]+)\)$/m);
    if (found.length === 0) throw new Error(`${part}/THIRD-PARTY-LICENSES.md names no library`);
    return Array.from({ length: found.length / 4 }, (_, at) => {
      const [name, version, licence, text] = found.slice(at * 4, at * 4 + 4);
      return { name, version, licence, text: text.trim() };
    });
  });
}

/** An expression that SPDX does not know is not accepted. */
function isAccepted(expression) {
  try {
    return satisfies(expression, ACCEPTED);
  } catch {
    return false;
  }
}

/** Folders of libraries, relative to `modules`' parent; those within other libraries too. */
function librariesIn(modules) {
  return readdirSync(modules, { recursive: true, encoding: 'utf8' })
    .map((path) => `node_modules/${path}`)
    .filter((path) => /(^|\/)node_modules\/(@[^/]+\/)?[^/@]+\/package\.json$/.test(path))
    .map((path) => path.slice(0, -'/package.json'.length));
}

function textIn(library) {
  return readdirSync(library)
    .filter((file) => TEXT_FILE.test(file))
    .map((file) => readFileSync(join(library, file), 'utf8'))
    .filter((text) => text.length >= MIN_TEXT_LENGTH)
    .join('\n');
}
