"""The texts of the page that a respondent sees, in German. Figures come from the manifest."""

PAGE = {
    "page_rehearsal": "PROBE: Nichts, was hier gesendet wird, zählt.",
    "page_language": "Sprache",
    "page_who": "Wer fragt",
    "page_why": "Wozu",
    "page_questions": "Fragen an Sie: {number}",
    "page_one_of": "Dieses Gerät lost für Sie eine von {number} privaten Fragen aus.",
    "page_closes": "Offen bis {day}.",
    "page_label": "Was mit Ihrer Antwort geschieht",
    "page_tap": "Wer sieht die Antwort, die Sie antippen?",
    "page_tap_answer": "Niemand. Sie bleibt auf diesem Gerät und wird beim Senden vergessen.",
    "page_tap_public": (
        "Die Antwort auf eine private Frage: niemand. Sie bleibt auf diesem Gerät und wird "
        "beim Senden vergessen. Die Antwort auf eine Frage, bei der steht, dass sie "
        "unverändert gesendet wird: der Veranstalter."
    ),
    "page_leaves": "Was verlässt dieses Gerät?",
    "page_leaves_answer": (
        "Eine Meldung, nachdem der Zufall dazukam: {number} Zeichen, bei jeder Antwort gleich "
        "viele."
    ),
    "page_leaks": "Und wenn die Meldung bekannt wird?",
    "page_leaks_answer": (
        "Sie verschiebt die Chancen, die jemand für Ihre Antwort sieht, höchstens {odds} zu 1. "
        "Aus einer Vermutung von 10 zu 100 werden höchstens {guess} zu 100."
    ),
    "page_link": "Wer könnte die Meldung Ihnen zuordnen?",
    "page_link_open": (
        "Die Meldung hat keinen Namen, nur eine Zufallszahl, damit sie einmal zählt. Wie bei "
        "jeder Webseite könnte der Server festhalten, dass Ihr Gerät hier war."
    ),
    "page_link_kiosk": (
        "Die Meldung hat keinen Namen, nur eine Zufallszahl, damit sie einmal zählt, und "
        "viele benutzen dieses Gerät."
    ),
    "page_link_token": (
        "Der Veranstalter: Ihre Einladung wird mit der Meldung gesendet. Auch er sieht nur die "
        "Meldung, nie die Antwort, die Sie antippen."
    ),
    "page_link_pass": (
        "Nicht der Veranstalter aus seinen Unterlagen: Er unterschreibt Ihren Ausweis, ohne "
        "ihn zu sehen. Nur wer Zeiten und Adressen der Verbindungen festhält, könnte es "
        "versuchen."
    ),
    "page_public": "Wird ohne Zufall gesendet.",
    "page_how": "Wie der Zufall Sie schützt",
    "page_process": (
        "Sie tippen an, was wahr ist. Dann wirft dieses Gerät Münzen. Oft sendet es Ihre "
        "Antwort, manchmal eine andere. Niemand weiß, welche; doch alle Meldungen zusammen "
        "zeigen die Anteile."
    ),
    "page_array_same": (
        "Von 100 Menschen, deren wahre Antwort „{label}“ ist, senden {number} „{label}“."
    ),
    "page_array_other": "Von 100 Menschen mit einer anderen Antwort senden {number} „{label}“.",
    "page_low_end": "{number}, das Wenigste",
    "page_high_end": "{number}, das Meiste",
    "page_ticked": "angekreuzt",
    "page_not_ticked": "nicht angekreuzt",
    "page_try": "Probieren Sie es",
    "page_try_text": (
        "Wählen Sie die wahre Antwort eines erfundenen Menschen und werfen Sie die Münzen. "
        "Nichts davon wird gesendet."
    ),
    "page_try_person": "Die wahre Antwort des erfundenen Menschen",
    "page_throw": "{number}-mal werfen",
    "page_throw_once": "Einmal werfen",
    "page_tally": "Was gesendet worden wäre",
    "page_quiz": "Ist es klar?",
    "page_quiz_text": (
        "Jemand sieht die Meldung, die dieses Gerät gesendet hat. Was erfährt er? (Was Sie "
        "hier wählen, wird nie gesendet.)"
    ),
    "page_quiz_truth": "Meine wahre Antwort",
    "page_quiz_hint": "Einen Hinweis: Der Zufall kann sie geändert haben",
    "page_quiz_nothing": "Gar nichts",
    "page_quiz_truth_told": "Nein. Die Antwort, die Sie antippen, verlässt dieses Gerät nie.",
    "page_quiz_hint_told": (
        "Ja. Die Meldung ist ein Hinweis: Sie verschiebt die Chancen, die jemand für Ihre "
        "Antwort sieht, höchstens {odds} zu 1."
    ),
    "page_quiz_nothing_told": (
        "Fast. Sie ist ein begrenzter Hinweis: Sie verschiebt die Chancen, die jemand für Ihre "
        "Antwort sieht, höchstens {odds} zu 1."
    ),
    "page_begin": "Beginnen",
    "page_begin_working": "Ihr Ausweis wird geholt …",
    "page_begin_used": (
        "Diese Einladung wurde schon benutzt, auf einem anderen Gerät oder in einem anderen "
        "Browser."
    ),
    "page_begin_closed": "Diese Umfrage ist zu Ende.",
    "page_begin_later": (
        "Der Server ist nicht zu erreichen. Bitte drücken Sie noch einmal auf Beginnen."
    ),
    "page_ask": "Die Fragen",
    "page_ask_note": (
        "Tippen Sie an, was wahr ist. Nichts wird gesendet, bevor Sie den letzten Knopf "
        "drücken."
    ),
    "page_choose": "Bitte wählen",
    "page_number_hint": "Eine Zahl von {low} bis {high}",
    "page_missing": "Bitte beantworten Sie diese Frage.",
    "page_promise": "Was diese Antwort beweist",
    "page_undo": "Eine gesendete Meldung kann nicht zurückgenommen werden.",
    "page_send": "Zufall dazu und senden",
    "page_done": "Vielen Dank",
    "page_sent_waiting": (
        "Der Zufall ist dazugekommen, Ihre Antworten sind vergessen. Die Meldung geht zu einem "
        "zufälligen Zeitpunkt innerhalb einer Minute ab, damit die Zeit nichts verrät. Sie "
        "dürfen diese Seite schließen: Dann wird sie gesendet, wenn Sie sie wieder öffnen."
    ),
    "page_sent_sending": (
        "Der Zufall ist dazugekommen, Ihre Antworten sind vergessen. Es wird gesendet …"
    ),
    "page_sent_later": (
        "Der Server ist nicht zu erreichen. Ihre Antworten sind vergessen. Die Meldung wartet "
        "auf diesem Gerät und wird gesendet, sobald Sie online sind oder diese Seite wieder "
        "öffnen."
    ),
    "page_sent_busy": (
        "Aus Ihrem Netz kamen in der letzten Stunde zu viele Meldungen. Ihre Antworten sind "
        "vergessen. Die Meldung wartet auf diesem Gerät und wird später gesendet."
    ),
    "page_sent_sent": "Ihre Meldung ist gesendet. Ihre Antworten sind vergessen.",
    "page_sent_refused": (
        "Die Meldung wurde nicht angenommen. Vielleicht ist die Umfrage zu Ende."
    ),
    "page_sent_before": (
        "Dieses Gerät hat seine Meldung gesendet. Eine zweite würde mehr über Sie verraten; "
        "darum gibt es nur eine."
    ),
    "page_bytes": "Was gesendet wurde, bis aufs Zeichen",
    "page_bytes_note": (
        "Das ist eine Meldung, nicht Ihre Antwort: Der Zufall kann sie geändert haben."
    ),
    "page_mark": (
        "Wenn die Umfrage endet, werden die Prüfsummen aller benutzten Ausweise "
        "veröffentlicht. Ihre ist:"
    ),
    "page_check": "Selbst prüfen",
    "page_check_text": (
        "Diese Seite wurde aus einem Manifest mit der Nummer unten gemacht. Auf dem Plakat "
        "oder im Brief, der Sie hergeführt hat, sollte dieselbe stehen."
    ),
    "page_code": "Den Code lesen, der den Zufall erzeugt",
    "page_save": "Diese Seite als Datei speichern",
    "page_again": "Nächste Person",
    "page_refused": "Diese Seite ist nicht zu benutzen",
    "page_refused_insecure": (
        "Die Verbindung ist nicht verschlüsselt. Öffnen Sie den Link mit https."
    ),
    "page_refused_incomplete": (
        "Der Link ist nicht vollständig. Öffnen Sie ihn noch einmal aus Ihrer Einladung, oder "
        "fügen Sie ihn hier ein."
    ),
    "page_paste": "Link oder Code Ihrer Einladung",
    "page_take": "Verwenden",
    "page_refused_changed": (
        "Dies ist nicht die Umfrage, zu der Sie eingeladen wurden: Ihre Zusagen wurden "
        "geändert. Nichts wurde gesendet. Bitte sagen Sie es denen, die Sie eingeladen haben."
    ),
    "page_no_script": (
        "Diese Seite braucht JavaScript, weil Ihr eigenes Gerät den Zufall erzeugen muss. Ohne "
        "kann nichts gesendet werden. Bitte fragen Sie nach dem Bogen auf Papier."
    ),
}
