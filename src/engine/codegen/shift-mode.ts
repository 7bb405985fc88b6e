/**
 * How the WebAssembly engine that will run the code compiles a shift of a vector by a constant. `immediate`: one instruction, as V8 and
 * SpiderMonkey do. `register`: the count goes through two integer registers into a vector register at every shift, as in JavaScriptCore; a
 * multiplication or some additions are then fewer instructions. Results are the same.
 */
export type ShiftMode = 'immediate' | 'register';
