/** `const x_1 = require("y");` as the TypeScript compiler writes it, with or without one of its helpers around. */
const REQUIRED = /^const (\w+) = (?:(__importDefault|__importStar)\()?require\("([^"]+)"\)\)?;$/gm;

/** No part of a longer name and no member, but after a spread. */
const BEFORE = '(?<![\\w$]|(?<!\\.\\.)\\.)';

/**
 * For the build: lets the files of the command framework load what they need when they first need it. They are written
 * by the TypeScript compiler, which names every import in one way and mentions it as `x_1.member` alone; most of them
 * are needed for what gw never asks of it. A file with any other mention stays as it is.
 */
export function lazyRequires(files: RegExp) {
  return {
    name: 'gw:lazy-requires',
    transform: {
      filter: { id: files },
      handler(code: string) {
        const names: string[] = [];
        let lazy = code.replace(REQUIRED, (_, name: string, helper: string | undefined, id: string) => {
          names.push(name);
          const load = helper === undefined ? `require("${id}")` : `${helper}(require("${id}"))`;
          return `let ${name}$; const ${name}$get = () => ${name}$ ??= ${load};`;
        });
        for (const name of names) {
          lazy = lazy.replace(new RegExp(`${BEFORE}${name}(?=[.)\\s,;\\]])`, 'g'), `(${name}$get())`);
        }
        const isWhole = names.every((name) => !new RegExp(`${BEFORE}${name}(?![\\w$])`).test(lazy));
        return names.length > 0 && isWhole ? { code: lazy, map: null } : null;
      },
    },
  };
}
