"""The texts of the page that a respondent sees, in English. Figures come from the manifest."""

PAGE = {
    "page_rehearsal": "REHEARSAL: nothing that is sent here counts.",
    "page_language": "Language",
    "page_who": "Who asks",
    "page_why": "Why",
    "page_questions": "Questions for you: {number}",
    "page_one_of": "This device draws one of {number} private questions for you.",
    "page_closes": "Open until {day}.",
    "page_label": "What happens to your answer",
    "page_tap": "Who can see the answer you tap?",
    "page_tap_answer": "Nobody. It stays on this device, which forgets it when you send.",
    "page_tap_public": (
        "The answer to a private question: nobody. It stays on this device, which forgets it "
        "when you send. The answer to a question marked “sent as it is”: the host."
    ),
    "page_leaves": "What leaves this device?",
    "page_leaves_answer": (
        "One report, after chance was added: {number} characters, the same for every answer."
    ),
    "page_leaks": "What if the report leaks?",
    "page_leaks_answer": (
        "It multiplies anyone's odds about you by at most {odds}. A guess of 10 in 100 becomes "
        "at most {guess} in 100."
    ),
    "page_link": "Who could link the report to you?",
    "page_link_open": (
        "The report has no name, only a random number, so that it counts once. Like any "
        "website, the server could note that your device was here."
    ),
    "page_link_kiosk": (
        "The report has no name, only a random number, so that it counts once, and many "
        "people use this device."
    ),
    "page_link_token": (
        "The host could: your invitation is sent with the report. The host still sees only the "
        "report, never the answer you tap."
    ),
    "page_link_pass": (
        "The host cannot from its records: it signs your pass without seeing it. Only someone "
        "who notes the times and addresses of connections could try."
    ),
    "page_public": "Sent as it is, without chance.",
    "page_how": "How chance protects you",
    "page_process": (
        "You tap what is true. Then this device throws coins. It often sends your answer, and "
        "sometimes another one. Nobody can tell which, but all reports together show the "
        "shares."
    ),
    "page_array_same": "Of 100 people whose true answer is “{label}”, {number} send “{label}”.",
    "page_array_other": "Of 100 people with another answer, {number} send “{label}”.",
    "page_low_end": "{number}, the lowest",
    "page_high_end": "{number}, the highest",
    "page_ticked": "ticked",
    "page_not_ticked": "not ticked",
    "page_try": "Try it",
    "page_try_text": (
        "Pick the true answer of a made-up person and throw the coins. Nothing of this is sent."
    ),
    "page_try_person": "The made-up person's true answer",
    "page_throw": "Throw {number} times",
    "page_throw_once": "Throw once",
    "page_tally": "What would have been sent",
    "page_quiz": "Is it clear?",
    "page_quiz_text": (
        "Someone sees the report that this device sent. What do they learn? (What you choose "
        "here is never sent.)"
    ),
    "page_quiz_truth": "My true answer",
    "page_quiz_hint": "A hint: chance may have changed it",
    "page_quiz_nothing": "Nothing at all",
    "page_quiz_truth_told": "No. The answer you tap never leaves this device.",
    "page_quiz_hint_told": (
        "Yes. The report is a hint: it multiplies anyone's odds about you by at most {odds}."
    ),
    "page_quiz_nothing_told": (
        "Almost. It is a hint, but a limited one: it multiplies anyone's odds about you by at "
        "most {odds}."
    ),
    "page_begin": "Begin",
    "page_begin_working": "Getting your pass …",
    "page_begin_used": "This invitation was used before, on another device or browser.",
    "page_begin_closed": "This survey has closed.",
    "page_begin_later": "The server cannot be reached. Please press Begin again.",
    "page_ask": "The questions",
    "page_ask_note": "Tap what is true. Nothing is sent before you press the last button.",
    "page_choose": "Please choose",
    "page_number_hint": "A number from {low} to {high}",
    "page_missing": "Please answer this question.",
    "page_promise": "What this answer proves",
    "page_undo": "Once it is sent, a report cannot be taken back.",
    "page_send": "Add chance and send",
    "page_done": "Thank you",
    "page_sent_waiting": (
        "Chance was added, and your answers are forgotten. The report leaves at a random "
        "moment within one minute, so that its time says nothing. You may close this page: the "
        "report is then sent when you open it again."
    ),
    "page_sent_sending": "Chance was added, and your answers are forgotten. Sending …",
    "page_sent_later": (
        "The server cannot be reached. Your answers are forgotten. The report waits on this "
        "device and is sent when you are online, or when you open this page again."
    ),
    "page_sent_busy": (
        "Too many reports came from your network in the last hour. Your answers are "
        "forgotten. The report waits on this device and is sent later."
    ),
    "page_sent_sent": "Your report was sent. Your answers are forgotten.",
    "page_sent_refused": "The survey did not take the report. Perhaps it is closed.",
    "page_sent_before": (
        "This device has sent its report. A second one would tell more about you, so there is "
        "only one."
    ),
    "page_bytes": "What was sent, to the last character",
    "page_bytes_note": "This is a report, not your answer: chance may have changed it.",
    "page_mark": (
        "When the survey closes, the hashes of all passes that were used are published. Yours "
        "is:"
    ),
    "page_check": "Check it yourself",
    "page_check_text": (
        "This page was made from a manifest with the number below. It should be the same on "
        "the poster or in the letter that brought you here."
    ),
    "page_code": "Read the code that adds chance",
    "page_save": "Save this page as a file",
    "page_again": "Next person",
    "page_refused": "This page cannot be used",
    "page_refused_insecure": "The connection is not encrypted. Open the link with https.",
    "page_refused_incomplete": (
        "The link is not complete. Open it from your invitation again, or paste it here."
    ),
    "page_paste": "Link or code of your invitation",
    "page_take": "Use it",
    "page_refused_changed": (
        "This is not the survey that you were invited to: its promises were changed. Nothing "
        "was sent. Please tell the people who invited you."
    ),
    "page_no_script": (
        "This page needs JavaScript, because your own device must add the chance. Without it "
        "nothing can be sent. Please ask for the paper form."
    ),
}
