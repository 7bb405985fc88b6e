/**
 * Programs of the machine: existing binaries that nvcc made, run on a device of this package. A C library that is loaded before the program
 * (`shim/`) sends its calls of CUDA to a process that serves it (`session.ts`), where the runtime of `src/program` answers them, reading and
 * writing the memory of the program. Start at `supervise.ts`, which starts both.
 */
export { type ProgramFacts, programFacts } from './program-file.ts';
export { completeLaunch, type DriverLog, type LoadKernel, ProgramCode, readDriverLog } from './record/driver-log.ts';
export { countLaunches, type LaunchFolder, writeLaunch } from './record/folder.ts';
export { Recorder, type RecordOptions } from './record/recorder.ts';
export { type SessionOptions, serveProgram } from './session.ts';
export { buildRecorder, buildShim, type Shim, type ShimFailure } from './shim/build.ts';
export { type ShimSource, shimSource } from './shim/source.ts';
export { codeOfEnd, noteFindings, removeAbandoned, type Supervision, superviseProgram } from './supervise.ts';
