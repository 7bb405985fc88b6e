/** Multimaps: lists by key. */

/** Appends to the list of a key and creates the list if needed. Lists grow in place, so that appending takes constant time. */
export function addTo<K, V>(lists: Map<K, V[]>, key: K, member: V): void {
  const list = lists.get(key);
  if (list) list.push(member);
  else lists.set(key, [member]);
}
