var i="hello-1";function s(e,t,n,o){let r={session_id:i,timestamp:o.toISOString(),type:"agent_start",goal:"Say hello"};return e==="curl"?`curl -sS ${t}/v1/events -H 'Authorization: Bearer ${n}' -H 'Content-Type: application/x-ndjson' -d '${JSON.stringify(r)}'`:`python3 - <<'END'
import json, urllib.request

event = ${JSON.stringify(r)}
request = urllib.request.Request(
    "${t}/v1/events",
    json.dumps([event]).encode(),
    {"Authorization": "Bearer ${n}", "Content-Type": "application/json"},
)
print(urllib.request.urlopen(request).read().decode())
END`}function a(e){return btoa(String.fromCharCode(...e)).replaceAll("+","-").replaceAll("/","_").replaceAll("=","")}function u(){return`wp_${a(crypto.getRandomValues(new Uint8Array(32)))}`}export{i as a,s as b,u as c};
