/** The part of JSON Schema 2020-12 that `schemas/` uses; any other keyword is an error, so that none is ignored. */

type Schema = Readonly<Record<string, unknown>>;

const annotations = new Set(['$schema', '$id', '$defs', 'title', 'description', 'default']);

/** What of a value breaks a schema, one line each with the place; empty if it is valid. */
export function violations(schema: Schema, value: unknown): string[] {
  return broken(schema, value, '', schema);
}

function broken(schema: Schema, value: unknown, at: string, root: Schema): string[] {
  return Object.entries(schema).flatMap(([keyword, wanted]) => {
    if (annotations.has(keyword)) return [];
    const rule = rules[keyword];
    if (!rule) throw new Error(`unknown keyword ${keyword}`);
    return rule({ wanted: wanted as never, value, at: at || '/', schema, root });
  });
}

interface Asked {
  readonly wanted: never;
  readonly value: unknown;
  readonly at: string;
  readonly schema: Schema;
  readonly root: Schema;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

const say = (isRight: boolean, at: string, what: string): string[] => (isRight ? [] : [`${at}: ${what}`]);

const rules: Readonly<Record<string, (asked: Asked) => string[]>> = {
  type: ({ wanted, value, at }) =>
    say(typeOf(value) === wanted || (wanted === 'integer' && Number.isInteger(value)), at, `is no ${wanted}`),
  const: ({ wanted, value, at }) => say(value === wanted, at, `is not ${wanted}`),
  enum: ({ wanted, value, at }) => say((wanted as unknown[]).includes(value), at, `is none of ${wanted}`),
  minimum: ({ wanted, value, at }) => say(typeof value !== 'number' || value >= wanted, at, `is below ${wanted}`),
  pattern: ({ wanted, value, at }) => say(typeof value !== 'string' || new RegExp(wanted).test(value), at, `does not match ${wanted}`),
  minItems: ({ wanted, value, at }) => say(!Array.isArray(value) || value.length >= wanted, at, 'is too short'),
  maxItems: ({ wanted, value, at }) => say(!Array.isArray(value) || value.length <= wanted, at, 'is too long'),
  items: ({ wanted, value, at, root }) =>
    Array.isArray(value) ? value.flatMap((each, i) => broken(wanted, each, `${at}/${i}`, root)) : [],
  required: ({ wanted, value, at }) =>
    isObject(value) ? (wanted as string[]).flatMap((key) => say(Object.hasOwn(value, key), at, `has no ${key}`)) : [],
  properties: ({ wanted, value, at, root }) =>
    Object.entries(wanted as Record<string, Schema>).flatMap(([key, schema]) =>
      isObject(value) && Object.hasOwn(value, key) ? broken(schema, value[key], `${at}/${key}`, root) : [],
    ),
  additionalProperties({ wanted, value, at, schema, root }) {
    if (!isObject(value) || (wanted as unknown) === true) return [];
    const known = Object.keys((schema.properties as object) ?? {});
    const others = Object.keys(value).filter((key) => !known.includes(key));
    if ((wanted as unknown) === false) return others.map((key) => `${at}: may not have ${key}`);
    return others.flatMap((key) => broken(wanted, value[key], `${at}/${key}`, root));
  },
  $ref: ({ wanted, value, at, root }) =>
    broken((root.$defs as Record<string, Schema>)[(wanted as string).replace('#/$defs/', '')]!, value, at, root),
  anyOf({ wanted, value, at, root }) {
    const all = (wanted as Schema[]).map((each) => broken(each, value, at, root));
    return all.some((each) => each.length === 0) ? [] : all.flat();
  },
  oneOf({ wanted, value, at, root }) {
    const all = (wanted as Schema[]).map((each) => broken(each, value, at, root));
    const fitting = all.filter((each) => each.length === 0).length;
    return fitting === 1 ? [] : fitting > 1 ? [`${at}: fits several alternatives`] : all.flat();
  },
};
