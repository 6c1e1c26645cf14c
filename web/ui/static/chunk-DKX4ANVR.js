import{W as r,a as g,ea as c,o as T,s as f}from"/ui/chunk-HM6NDSAC.js";async function v(n,e){try{await navigator.clipboard.writeText(n),c(`${e}: copied`)}catch{c(S(n)?`${e}: copied`:"The browser does not allow copying here.")}}function S(n){let e=document.createElement("textarea");e.value=n;let o=document.querySelector("dialog[open]")??document.body,i=document.activeElement;o.append(e),e.select();let a=document.execCommand("copy");return e.remove(),i?.focus(),a}var E="OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY";var A="hello-1";function I(n,e,o,i){if(n==="OpenTelemetry")return $(e,o);let a={session_id:A,timestamp:i.toISOString(),type:"agent_start",goal:"Say hello"};if(n==="curl"){let s=`-H 'Authorization: Bearer ${o}' -H 'Content-Type: application/x-ndjson'`;return`curl -sS ${e}/v1/events ${s} -d '${JSON.stringify(a)}'`}return`python3 - <<'END'
import json, urllib.request

event = ${JSON.stringify(a)}
request = urllib.request.Request(
    "${e}/v1/events",
    json.dumps([event]).encode(),
    {"Authorization": "Bearer ${o}", "Content-Type": "application/json"},
)
print(urllib.request.urlopen(request).read().decode())
END`}function $(n,e){return`export OTEL_EXPORTER_OTLP_ENDPOINT=${n}
export OTEL_EXPORTER_OTLP_HEADERS="x-api-key=${e}"
export OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental
export ${E}`}function h(n){return btoa(String.fromCharCode(...n)).replaceAll("+","-").replaceAll("/","_").replaceAll("=","")}function w(){return`wp_${h(crypto.getRandomValues(new Uint8Array(32)))}`}function H({label:n,tabs:e,value:o,onChange:i,before:a,aside:s,children:_,class:p}){let l=f(),u=T(null);return r(g,{children:[r("div",{class:"tabs-bar",children:[a,r("div",{ref:u,class:"tabs",role:"tablist","aria-label":n,onKeyDown:t=>{let m=e.findIndex(b=>b.id===o),y={ArrowRight:m+1,ArrowLeft:m-1+e.length,Home:0,End:e.length-1}[t.key],d=y===void 0?void 0:e[y%e.length];d&&(t.preventDefault(),t.stopPropagation(),i(d.id),u.current?.querySelector(`[data-tab="${CSS.escape(d.id)}"]`)?.focus())},children:e.map(t=>r("button",{type:"button",role:"tab",id:`${l}-${t.id}`,"data-tab":t.id,"aria-selected":t.id===o,"aria-controls":`${l}-panel`,tabIndex:t.id===o?0:-1,onClick:()=>i(t.id),children:[t.label,t.count!==void 0&&r("small",{"aria-hidden":"true",children:t.count})]},t.id))}),s]}),r("div",{id:`${l}-panel`,class:p?`tab-panel ${p}`:"tab-panel",role:"tabpanel","aria-labelledby":`${l}-${o}`,children:_})]})}export{v as a,E as b,A as c,I as d,w as e,H as f};
