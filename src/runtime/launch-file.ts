/** `launch.json`: a launch as data. It is checked by hand against its schema, so that messages name the place. */
import { closest } from '../base/closest.ts';
import { Diagnostics } from '../base/diagnostic.ts';
import { SourceFile, type Span } from '../base/source.ts';
import type { Dim3 } from '../device/device.ts';
import { type ArgumentSpec, type Expectation, isProblem, type PointerField, type Problem, parseValue } from './argument.ts';
import { type ElementType, type ElementValue, elementTypes, isElementType } from './element.ts';
import { folderOf } from './io.ts';
import { isJsonFault, type JsonMember, type JsonNode, readJson } from './json-text.ts';
import type { LaunchPlan } from './plan.ts';
import type { Init } from './rand.ts';
import { type Reach, reached, reachedForWriting, reachedModule } from './reach.ts';
import type { SymbolWrite } from './symbols.ts';

export interface LaunchFile extends LaunchPlan {
  /** The PTX or metallib file, its path relative to where the launch file's own path is. */
  readonly module: string;
}

/** How far the names in a launch file reach, and how they are used. */
export interface LaunchFileOptions extends Pick<Reach, 'io' | 'allowsOutside'> {
  /** Whether the `expect` files are written. */
  readonly isRecording?: boolean;
}

/** Reads the text of a launch file; undefined after reporting CM5040, or CM5041 or CM5044 for each fault, at its line and column. */
export function readLaunchFile(
  path: string,
  text: string,
  diagnostics: Diagnostics,
  { isRecording = false, ...reach }: LaunchFileOptions = {},
): LaunchFile | undefined {
  const own = new Diagnostics(new SourceFile(path, text));
  const json = readJson(text);
  if (isJsonFault(json)) {
    own.report('CM5040', { path, why: json.why }, { span: { start: json.at, end: json.at + 1 } });
    diagnostics.addAll(own.list);
    return undefined;
  }
  const faults: Fault[] = [];
  const file = readLaunch(plainOf(json), {
    at: '',
    span: json.span,
    node: json,
    reach: { ...reach, folder: folderOf(path) },
    isRecording,
    faults,
  });
  for (const { at, why, name, span } of faults) {
    if (name === undefined) own.report('CM5041', { path, at: at || 'the file', why }, { span });
    else own.report('CM5044', { name, why }, { span });
  }
  diagnostics.addAll(own.sorted());
  return faults.length === 0 ? file : undefined;
}

interface Fault {
  readonly at: string;
  readonly why: string;
  /** The name of a file that must not be named. */
  readonly name?: string;
  readonly span: Span;
}

/** The current place in the file, and the faults so far. */
interface Place {
  readonly at: string;
  /** The place in the text: of the value or, where it is missing, of what it is missing in. */
  readonly span: Span;
  readonly node: JsonNode | undefined;
  readonly reach: Reach;
  readonly isRecording: boolean;
  readonly faults: Fault[];
}

type Json = Record<string, unknown>;

const isMembers = (value: JsonNode['value']): value is ReadonlyMap<string, JsonMember> => value instanceof Map;

/** The value without its places. Objects have no prototype, so that a key such as `__proto__` is a key. */
function plainOf({ value }: JsonNode): unknown {
  if (Array.isArray(value)) return value.map(plainOf);
  if (!isMembers(value)) return value;
  const object: Json = Object.create(null);
  for (const [key, { node }] of value) object[key] = plainOf(node);
  return object;
}

const inside = (place: Place, key: string | number): Place => {
  const at = typeof key === 'number' ? `${place.at}[${key}]` : place.at === '' ? key : `${place.at}.${key}`;
  const value = place.node?.value;
  const items = Array.isArray(value) ? (value as readonly JsonNode[]) : undefined;
  const node = typeof key === 'number' ? items?.[key] : value && isMembers(value) ? value.get(key)?.node : undefined;
  return { ...place, at, node, span: node?.span ?? place.span };
};

/** The place of a key that does not belong into an object. */
function keyOf(place: Place, key: string): Place {
  const value = place.node?.value;
  const span = value && isMembers(value) ? value.get(key)?.keySpan : undefined;
  return { ...inside(place, key), span: span ?? place.span };
}

function fault(place: Place, why: string): undefined {
  place.faults.push({ at: place.at, why, span: place.span });
}

/** The path of a file that the launch file names; undefined after a fault. */
function readPath(json: unknown, place: Place, resolve: typeof reached = reached): string | undefined {
  const name = readText(json, place);
  if (name === undefined) return undefined;
  const path = resolve(name, place.reach);
  if (!isProblem(path)) return path;
  place.faults.push({ at: place.at, why: path.problem, name, span: place.span });
  return undefined;
}

function readLaunch(json: unknown, place: Place): LaunchFile | undefined {
  const keys = ['$schema', 'description', 'module', 'kernel', 'grid', 'block', 'cluster', 'sharedBytes', 'constants', 'args'];
  const object = readObject(json, keys, ['module', 'kernel', 'grid', 'block', 'args'], place);
  if (!object) return undefined;
  for (const key of ['$schema', 'description']) if (object[key] !== undefined) readText(object[key], inside(place, key));
  const module = readPath(object.module, inside(place, 'module'), reachedModule);
  const kernel = readText(object.kernel, inside(place, 'kernel'));
  const grid = readDim3(object.grid, inside(place, 'grid'));
  const block = readDim3(object.block, inside(place, 'block'));
  const cluster = object.cluster === undefined ? undefined : readDim3(object.cluster, inside(place, 'cluster'));
  const sharedBytes = object.sharedBytes === undefined ? 0 : readInteger(object.sharedBytes, 0, inside(place, 'sharedBytes'));
  const constants = readConstants(object.constants, inside(place, 'constants'));
  const args = readArguments(object.args, inside(place, 'args'));
  if (module === undefined || kernel === undefined || !grid || !block || sharedBytes === undefined || !constants || !args) return undefined;
  const isSharedDefault = object.sharedBytes === undefined ? { isSharedDefault: true } : {};
  if (object.cluster !== undefined && !cluster) return undefined;
  return { module, kernel, grid, block, ...(cluster ? { cluster } : {}), sharedBytes, ...isSharedDefault, constants, args };
}

function readConstants(json: unknown, place: Place): SymbolWrite[] | undefined {
  if (json === undefined) return [];
  const object = readObject(json, undefined, [], place);
  if (!object) return undefined;
  return Object.entries(object).flatMap(([name, json]) => {
    const path = readPath(json, inside(place, name));
    return path === undefined ? [] : [{ name, path }];
  });
}

function readArguments(json: unknown, place: Place): ArgumentSpec[] | undefined {
  if (!Array.isArray(json)) return fault(place, `must be a list, found ${kindOf(json)}`);
  const args = json.map((item, i) => readArgument(item, inside(place, i)));
  return args.every((argument) => argument !== undefined) ? args : undefined;
}

function readArgument(json: unknown, place: Place): ArgumentSpec | undefined {
  if (!isObject(json)) return fault(place, `must be an object, found ${kindOf(json)}`);
  const kinds = (['buffer', 'type', 'bytes', 'null', 'within'] as const).filter((key) => json[key] !== undefined);
  if (kinds.length !== 1)
    return fault(place, 'must have one of `buffer` (with `shape`), `type` (with `value`), `bytes`, `null` and `within`');
  if (kinds[0] === 'null') return readNull(json, place);
  if (kinds[0] === 'within') return readWithin(json, place);
  if (kinds[0] === 'buffer') return readBuffer(json, place);
  return kinds[0] === 'type' ? readScalar(json, place) : readBytesArgument(json, place);
}

function readNull(json: Json, place: Place): ArgumentSpec | undefined {
  if (!readObject(json, ['name', 'null'], ['null'], place)) return undefined;
  if (json.null !== true) return fault(inside(place, 'null'), `must be true, found ${kindOf(json.null)}`);
  const name = json.name === undefined ? undefined : readText(json.name, inside(place, 'name'));
  return json.name !== undefined && name === undefined
    ? undefined
    : { label: name === undefined ? 'null' : `${name}: null`, ...(name === undefined ? {} : { name }), kind: 'null' };
}

function readWithin(json: Json, place: Place): ArgumentSpec | undefined {
  if (!readObject(json, ['name', 'within', 'offset'], ['name', 'within'], place)) return undefined;
  const name = readText(json.name, inside(place, 'name'));
  const argument = readInteger(json.within, 0, inside(place, 'within'));
  const offset = readInteger(json.offset ?? 0, 0, inside(place, 'offset'));
  if (name === undefined || argument === undefined || offset === undefined) return undefined;
  return { label: `${name}: byte ${offset} of argument ${argument}`, name, kind: 'within', argument, offset };
}

function readBuffer(json: Json, place: Place): ArgumentSpec | undefined {
  if (!readObject(json, ['name', 'buffer', 'shape', 'init', 'expect', 'pointers'], ['name', 'buffer', 'shape'], place)) return undefined;
  const name = readText(json.name, inside(place, 'name'));
  const element = readElement(json.buffer, inside(place, 'buffer'));
  const shape = readShape(json.shape, inside(place, 'shape'));
  const init = element && readInit(element, json.init, inside(place, 'init'));
  const expect = json.expect === undefined ? undefined : readExpect(json.expect, inside(place, 'expect'));
  const pointers = readPointers(json.pointers, inside(place, 'pointers'));
  if (name === undefined || !element || !shape || !init || !pointers) return undefined;
  const fields = pointers.length > 0 ? { pointers } : {};
  const common = { label: `${name}: ${element}:${shape.join('x')}`, name, element, shape, ...(expect ? { expect } : {}), ...fields };
  return init.kind === 'file' ? { ...common, kind: 'file', path: init.path } : { ...common, kind: 'buffer', init };
}

function readScalar(json: Json, place: Place): ArgumentSpec | undefined {
  if (!readObject(json, ['name', 'type', 'value'], ['name', 'type', 'value'], place)) return undefined;
  const name = readText(json.name, inside(place, 'name'));
  const element = readElement(json.type, inside(place, 'type'));
  if (name === undefined || !element) return undefined;
  const value = readNumber(element, json.value, inside(place, 'value'));
  return value === undefined ? undefined : { label: `${name}: ${element}=${json.value}`, name, kind: 'scalar', element, value };
}

function readBytesArgument(json: Json, place: Place): ArgumentSpec | undefined {
  if (!readObject(json, ['name', 'bytes', 'pointers'], ['name', 'bytes'], place)) return undefined;
  const name = readText(json.name, inside(place, 'name'));
  const path = readPath(json.bytes, inside(place, 'bytes'));
  const pointers = readPointers(json.pointers, inside(place, 'pointers'));
  if (name === undefined || path === undefined || !pointers) return undefined;
  const fields = pointers.length > 0 ? { pointers } : {};
  return { label: `${name}: bytes@${json.bytes}`, name, kind: 'bytes', path, ...fields };
}

/** The buffers whose addresses are in a struct or in a buffer. */
function readPointers(json: unknown, place: Place): PointerField[] | undefined {
  if (json === undefined) return [];
  if (!Array.isArray(json)) return fault(place, `must be a list, found ${kindOf(json)}`);
  const fields = json.map((item, i) => {
    const at = inside(place, i);
    const object = readObject(item, ['offset', 'argument', 'at'], ['offset', 'argument'], at);
    if (!object) return undefined;
    const [offset, argument] = (['offset', 'argument'] as const).map((key) => readInteger(object[key], 0, inside(at, key)));
    const byte = readInteger(object.at ?? 0, 0, inside(at, 'at'));
    if (offset === undefined || argument === undefined || byte === undefined) return undefined;
    return { offset, argument, ...(byte > 0 ? { at: byte } : {}) };
  });
  return fields.every((field) => field !== undefined) ? fields : undefined;
}

function readInit(element: ElementType, json: unknown, place: Place): Init | { kind: 'file'; path: string } | undefined {
  if (json === undefined) return { kind: 'zeros' };
  if (json === 'zeros' || json === 'ones' || json === 'iota') return { kind: json };
  const keys = isObject(json) ? Object.keys(json) : [];
  if (!isObject(json) || keys.length !== 1)
    return fault(place, 'must be "zeros", "ones", "iota", {"fill": v}, {"rand": seed} or {"file": path}');
  const only = inside(place, keys[0]!);
  if (keys[0] === 'fill') {
    const value =
      typeof json.fill === 'number' ? readNumber(element, json.fill, only) : fault(only, `must be a number, found ${kindOf(json.fill)}`);
    return value === undefined ? undefined : { kind: 'fill', value };
  }
  if (keys[0] === 'rand') {
    const seed = readInteger(json.rand, Number.MIN_SAFE_INTEGER, only);
    return seed === undefined ? undefined : { kind: 'rand', seed: BigInt(seed) };
  }
  if (keys[0] !== 'file') return fault(only, 'is not a way to start a buffer: `fill`, `rand` and `file` are');
  const path = readPath(json.file, only);
  return path === undefined ? undefined : { kind: 'file', path };
}

function readExpect(json: unknown, place: Place): Expectation | undefined {
  const object = readObject(json, ['file', 'rtol', 'atol', 'ulp', 'recordedOn'], ['file'], place);
  if (!object) return undefined;
  const path = readPath(object.file, inside(place, 'file'), place.isRecording ? reachedForWriting : reached);
  const [rtol, atol] = (['rtol', 'atol'] as const).map((key) => readTolerance(object[key], inside(place, key)));
  const ulp = object.ulp === undefined ? 0 : readInteger(object.ulp, 0, inside(place, 'ulp'));
  if (object.recordedOn !== undefined) readText(object.recordedOn, inside(place, 'recordedOn'));
  if (path === undefined || rtol === undefined || atol === undefined || ulp === undefined) return undefined;
  return { path, rtol, atol, ulp };
}

function readTolerance(json: unknown, place: Place): number | undefined {
  if (json === undefined) return 0;
  if (typeof json === 'number' && json >= 0) return json;
  return fault(place, `must be a number of at least 0, found ${kindOf(json)}`);
}

/** A number of the type, from a JSON number or from a string for numbers that JSON cannot hold. */
function readNumber(element: ElementType, json: unknown, place: Place): ElementValue | undefined {
  if (typeof json !== 'number' && typeof json !== 'string') return fault(place, `must be a number or a string, found ${kindOf(json)}`);
  const isInexact =
    typeof json === 'number' && Number.isInteger(json) && !Number.isSafeInteger(json) && (element === 'u64' || element === 'i64');
  if (isInexact) return fault(place, 'is too large for a JSON number to hold exactly: write it as a string');
  const value: ElementValue | Problem = parseValue(element, typeof json === 'string' ? json : plainDecimal(json));
  return isProblem(value) ? fault(place, `cannot be read: ${value.problem}`) : value;
}

/** A JSON number without the exponent that `String` gives large integers. */
const plainDecimal = (value: number): string =>
  Number.isInteger(value) && !Object.is(value, -0) ? BigInt(value).toString() : Object.is(value, -0) ? '-0' : String(value);

function readDim3(json: unknown, place: Place): Dim3 | undefined {
  if (!Array.isArray(json) || json.length !== 3) return fault(place, 'must be a list of three integers');
  const [x, y, z] = json.map((item, i) => readInteger(item, 1, inside(place, i)));
  return x === undefined || y === undefined || z === undefined ? undefined : [x, y, z];
}

function readShape(json: unknown, place: Place): number[] | undefined {
  if (!Array.isArray(json) || json.length === 0) return fault(place, 'must be a list of at least one integer');
  const shape = json.map((item, i) => readInteger(item, 1, inside(place, i)));
  return shape.every((n) => n !== undefined) ? shape : undefined;
}

function readElement(json: unknown, place: Place): ElementType | undefined {
  if (typeof json === 'string' && isElementType(json)) return json;
  const near = typeof json === 'string' ? closest(json, elementTypes) : undefined;
  return fault(
    place,
    `must be an element type, found ${kindOf(json)}${near ? `, did you mean \`${near}\`` : ` (${elementTypes.join(' ')})`}`,
  );
}

function readInteger(json: unknown, min: number, place: Place): number | undefined {
  if (typeof json === 'number' && Number.isSafeInteger(json) && json >= min) return json;
  return fault(place, `must be an integer${min === Number.MIN_SAFE_INTEGER ? '' : ` of at least ${min}`}, found ${kindOf(json)}`);
}

function readText(json: unknown, place: Place): string | undefined {
  return typeof json === 'string' ? json : fault(place, `must be a string, found ${kindOf(json)}`);
}

/** The object with its required keys, rejecting keys that the schema does not know (`allowed` absent: any key). */
function readObject(json: unknown, allowed: readonly string[] | undefined, required: readonly string[], place: Place): Json | undefined {
  if (!isObject(json)) return fault(place, `must be an object, found ${kindOf(json)}`);
  const before = place.faults.length;
  for (const key of Object.keys(json)) {
    if (!allowed || allowed.includes(key)) continue;
    const near = closest(key, allowed);
    fault(keyOf(place, key), `is not a key of this object${near ? `, did you mean \`${near}\`` : ` (${allowed.join(', ')})`}`);
  }
  for (const key of required) if (json[key] === undefined) fault(inside(place, key), 'is missing');
  return place.faults.length === before ? json : undefined;
}

const isObject = (json: unknown): json is Json => typeof json === 'object' && json !== null && !Array.isArray(json);

function kindOf(json: unknown): string {
  if (json === null || json === undefined) return 'null';
  if (Array.isArray(json)) return `a list of ${json.length}`;
  if (typeof json === 'object') return 'an object';
  return typeof json === 'string' ? `"${json}"` : String(json);
}
